//! There are no adapters: what asks for one gets an error. The unit tests of a build with the feature `gpu` compile this file too.

use std::sync::Arc;

use crate::account::Account;
use crate::error::{Error, Result};
use crate::gpu::context::Context;

const WHY: &str = "hullfield was built without the feature gpu";

/// A device that is ready for work, and why it is this one.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) context: Context,
    pub(crate) reason: String,
}

pub(crate) async fn open_real(account: &Arc<Account>) -> Result<Opened, String> {
    Err(WHY.to_owned())
}

pub(crate) async fn open_any(account: &Arc<Account>) -> Result<Opened> {
    Err(Error::NoGpu { message: format!("{WHY}: build it with that feature, or use the CPU engine") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_the_feature_gpu_the_error_names_it() {
        let account = Arc::new(Account::new(None, None));
        let error = pollster::block_on(open_any(&account)).unwrap_err();
        assert!(matches!(error, Error::NoGpu { .. }));
        let message = error.to_string();
        assert!(message.contains("the feature gpu") && message.contains("CPU engine"), "{message}");
        let why = pollster::block_on(open_real(&account)).unwrap_err();
        assert!(why.contains("the feature gpu"), "{why}");
    }
}
