//! Children whose executor, or whose starter, is gone.
