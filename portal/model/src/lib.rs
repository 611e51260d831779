//! What a portal must do.
