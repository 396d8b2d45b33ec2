//! Why a head is refused: one variant a cause, with the answer it gets.
//! Not here: what the connection does about it (crate `session`).
//! Serves both parsers; for a response the answer to the client is always 502.

use thiserror::Error;

/// A fault in a message head. `Display` is the detail text: lower case, one line, no bytes of the peer in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum HeadError {
    #[error("TLS bytes on a port that speaks plain HTTP")]
    Tls,
    #[error("HTTP/2 preface on a port that speaks HTTP/1.1")]
    Http2Preface,
    #[error("bare CR in the head")]
    BareCr,
    #[error("bare LF in the head, lines end with CRLF")]
    BareLf,
    #[error("NUL in the head")]
    Nul,
    #[error("control character in the head")]
    ControlCharacter,
    #[error("request line is longer than the limit of the head")]
    RequestLineTooLong,
    #[error("head is larger than its limit")]
    HeadTooLarge,
    #[error("more header fields than the limit")]
    TooManyHeaders,
    #[error("request line is not `method SP target SP version`")]
    RequestLine,
    #[error("method is not a token")]
    Method,
    #[error("method CONNECT is not served")]
    Connect,
    #[error("request target holds a character that must be percent-encoded")]
    TargetCharacter,
    #[error("request target is neither a path, an http(s) URL, nor `*` with OPTIONS")]
    TargetForm,
    #[error("request target carries user information")]
    UserInfo,
    #[error("HTTP version is not HTTP/1.0 or HTTP/1.1")]
    VersionUnsupported,
    #[error("status line is not `version SP code SP reason`")]
    StatusLine,
    #[error("header field is folded over lines")]
    ObsFold,
    #[error("whitespace between a field name and its colon")]
    SpaceBeforeColon,
    #[error("field name is not a token")]
    FieldName,
    #[error("header line without a colon")]
    MissingColon,
    #[error("more than 64 connection options")]
    ConnectionOptions,
    #[error("no Host field")]
    HostMissing,
    #[error("more than one Host field")]
    HostRepeated,
    #[error("Host is not `name[:port]`")]
    HostInvalid,
    #[error("Content-Length is not a decimal number")]
    ContentLength,
    #[error("Content-Length is larger than 2^63-1")]
    ContentLengthTooLarge,
    #[error("more than one Content-Length")]
    ContentLengthRepeated,
    #[error("both Content-Length and Transfer-Encoding")]
    LengthAndEncoding,
    #[error("Transfer-Encoding is not exactly `chunked`")]
    TransferEncoding,
    #[error("Transfer-Encoding before `chunked` is not supported")]
    TransferCoding,
    #[error("Transfer-Encoding in an HTTP/1.0 message")]
    TransferEncodingVersion,
}

impl HeadError {
    /// The status that a request with this fault gets. A response with any fault gives the client a 502 instead.
    pub fn status(self) -> u16 {
        match self {
            Self::RequestLineTooLong => 414,
            Self::HeadTooLarge | Self::TooManyHeaders => 431,
            Self::Connect | Self::TransferCoding => 501,
            Self::Http2Preface | Self::VersionUnsupported => 505,
            Self::Tls
            | Self::BareCr
            | Self::BareLf
            | Self::Nul
            | Self::ControlCharacter
            | Self::RequestLine
            | Self::Method
            | Self::TargetCharacter
            | Self::TargetForm
            | Self::UserInfo
            | Self::StatusLine
            | Self::ObsFold
            | Self::SpaceBeforeColon
            | Self::FieldName
            | Self::MissingColon
            | Self::ConnectionOptions
            | Self::HostMissing
            | Self::HostRepeated
            | Self::HostInvalid
            | Self::ContentLength
            | Self::ContentLengthTooLarge
            | Self::ContentLengthRepeated
            | Self::LengthAndEncoding
            | Self::TransferEncoding
            | Self::TransferEncodingVersion => 400,
        }
    }

    /// The log word of the close reason that a request with this fault ends with (see `session::CloseReason`).
    pub fn close_word(self) -> &'static str {
        match self.status() {
            414 | 431 => "head_too_large",
            501 => "not_implemented",
            505 => "version_unsupported",
            _ => "bad_request",
        }
    }
}
