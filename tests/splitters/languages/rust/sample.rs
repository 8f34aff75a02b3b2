//! A shelf of jars. fn fake() {} is text here.

use std::collections::HashMap;
use std::fmt;

/// How many jars fit.
pub const LIMIT: usize = 12;
static GREETING: &str = "fn hello() {";

pub type Result<T> = std::result::Result<T, Full>;

#[derive(Debug, Clone)]
pub struct Full;

/// One jar.
///
/// ```
/// struct Example;
/// ```
#[derive(Debug)]
#[allow(dead_code)]
pub struct Jar<'a> {
    label: &'a str,
    grams: f64,
}

pub enum Size {
    Small,
    Large { litres: u32 },
}

pub trait Weigh {
    const UNIT: &'static str;

    fn weigh(&self) -> f64;

    fn heavy(&self) -> bool {
        self.weigh() > 1000.0
    }
}

impl<'a> Jar<'a> {
    /// Makes an empty one.
    #[must_use]
    pub fn new(label: &'a str) -> Self {
        Jar { label, grams: 0.0 }
    }
}

impl<'a> Weigh for Jar<'a> {
    const UNIT: &'static str = "g";

    fn weigh(&self) -> f64 {
        fn rounded(value: f64) -> f64 {
            value.round()
        }
        rounded(self.grams)
    }
}

impl<T: Weigh> fmt::Display for Shelf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, r#"impl "nothing" {{ "#)
    }
}

pub struct Shelf<T> {
    jars: HashMap<String, T>,
}

macro_rules! jar {
    ($label:expr) => {
        Jar::new($label)
    };
}

mod elsewhere;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_jar_weighs_nothing() {
        assert_eq!(jar!("plum").weigh(), 0.0);
    }
}
