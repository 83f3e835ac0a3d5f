//! Nothing: the features of the dependencies are what counts.
