//! TLS for remote servers, set up once.

use std::sync::{Arc, OnceLock};

use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt;
use url::Url;

/// What connections trust. The system's trust store is read when the first `https` server needs it, and then kept.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tls {
    system: Arc<OnceLock<ClientConfig>>,
}

impl Tls {
    /// The configuration for a server. A plain `http` one must not fail for want of certificates.
    pub(super) fn for_url(&self, url: &Url) -> Result<ClientConfig, rustls::Error> {
        if url.scheme() != "https" {
            return Ok(builder()?
                .with_root_certificates(RootCertStore::empty())
                .with_no_client_auth());
        }
        if let Some(config) = self.system.get() {
            return Ok(config.clone());
        }
        let config = builder()?.with_platform_verifier()?.with_no_client_auth();
        // Another startup may have been faster; theirs is the same.
        Ok(self.system.get_or_init(|| config).clone())
    }
}

fn builder() -> Result<rustls::ConfigBuilder<ClientConfig, rustls::WantsVerifier>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()
}
