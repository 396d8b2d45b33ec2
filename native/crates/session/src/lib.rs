//! session
pub mod route;

pub use route::{HeaderLookup, RequestKey, Routed, route};
