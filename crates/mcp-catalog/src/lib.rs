//! One listing shared by all startups that overlap, and live catalogs with revisions.
