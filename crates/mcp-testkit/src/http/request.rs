//! One HTTP request as it came.

use std::{fmt, io, str};

use tokio::io::{AsyncBufReadExt, AsyncReadExt};

use super::connection::Connection;
use crate::message::Message;

/// A request, body included.
#[derive(Debug)]
pub(super) struct HttpRequest {
    verb: String,
    path: String,
    headers: Vec<(String, String)>,
    message: Message,
}

impl HttpRequest {
    /// Reads one request; `None` when the client closed the connection instead.
    pub(super) async fn read(connection: &mut Connection) -> io::Result<Option<Self>> {
        let Some(line) = read_line(connection).await? else {
            return Ok(None);
        };
        let mut words = line.split(' ');
        let (Some(verb), Some(path), Some("HTTP/1.1"), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return Err(invalid(format!("not a request line: {line:?}")));
        };
        let mut request = Self {
            verb: verb.to_owned(),
            path: path.to_owned(),
            headers: Vec::new(),
            message: Message::from_line(Vec::new()),
        };
        loop {
            let line = read_line(connection)
                .await?
                .ok_or(io::ErrorKind::UnexpectedEof)?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line
                .split_once(':')
                .ok_or_else(|| invalid(format!("not a header: {line:?}")))?;
            request
                .headers
                .push((name.to_owned(), value.trim().to_owned()));
        }
        request.message = Message::from_line(request.read_body(connection).await?);
        Ok(Some(request))
    }

    async fn read_body(&self, connection: &mut Connection) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        if self
            .header("transfer-encoding")
            .is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"))
        {
            loop {
                let size = read_line(connection)
                    .await?
                    .ok_or(io::ErrorKind::UnexpectedEof)?;
                let size = usize::from_str_radix(&size, 16)
                    .map_err(|error| invalid(format!("chunk size {size:?}: {error}")))?;
                read_exactly(connection, size, &mut body).await?;
                read_line(connection).await?;
                if size == 0 {
                    return Ok(body);
                }
            }
        }
        if let Some(length) = self.header("content-length") {
            let length = length
                .parse()
                .map_err(|error| invalid(format!("content length {length:?}: {error}")))?;
            read_exactly(connection, length, &mut body).await?;
        }
        Ok(body)
    }

    pub(super) fn verb(&self) -> &str {
        &self.verb
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(present, _)| present.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    pub(super) fn message(&self) -> &Message {
        &self.message
    }
}

impl fmt::Display for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.path)?;
        if self.message.raw().is_empty() {
            Ok(())
        } else {
            write!(f, " with {}", self.message)
        }
    }
}

/// The next line without its end; `None` at the end of the connection.
async fn read_line(connection: &mut Connection) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    if connection.read_until(b'\n', &mut line).await? == 0 {
        return Ok(None);
    }
    let line = line
        .strip_suffix(b"\r\n")
        .ok_or_else(|| invalid("a line does not end in CR LF".to_owned()))?;
    Ok(Some(
        str::from_utf8(line)
            .map_err(|error| invalid(error.to_string()))?
            .to_owned(),
    ))
}

async fn read_exactly(
    connection: &mut Connection,
    length: usize,
    into: &mut Vec<u8>,
) -> io::Result<()> {
    let begin = into.len();
    into.resize(begin + length, 0);
    connection.read_exact(&mut into[begin..]).await?;
    Ok(())
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}
