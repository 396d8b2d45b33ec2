//! Names of Rust in the spelling of TypeScript, and texts as TypeScript literals.

/// `snake_case` as `camelCase`.
pub fn camel(snake: &str) -> String {
    let mut out = String::new();
    let mut upper = false;
    for c in snake.chars() {
        match c {
            '_' => upper = true,
            c if upper => {
                out.extend(c.to_uppercase());
                upper = false;
            }
            c => out.push(c),
        }
    }
    out
}

/// `CamelCase` as `UPPER_CASE`.
pub fn upper(camel: &str) -> String {
    let mut out = String::new();
    for (i, c) in camel.chars().enumerate() {
        if c.is_uppercase() && i > 0 {
            out.push('_');
        }
        out.extend(c.to_uppercase());
    }
    out
}

/// A single-quoted literal.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// First lines of every generated file.
pub fn banner(source: &str) -> String {
    format!("// Generated from {source} by native/xtask (cargo run -p xtask -- gen). Do not edit; CI compares.\n\n")
}
