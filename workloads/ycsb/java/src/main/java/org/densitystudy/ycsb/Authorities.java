package org.densitystudy.ycsb;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The authorities, in a PEM file, that certificates of servers come from. */
public final class Authorities {
  private Authorities() {}

  /** Trusts these alone. An IOException if the file holds no certificate. */
  public static SSLContext trusting(Path pem) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream certificates = Files.newInputStream(pem)) {
      for (Certificate one :
          CertificateFactory.getInstance("X.509").generateCertificates(certificates)) {
        store.setCertificateEntry("ca" + store.size(), one);
      }
    }
    if (store.size() == 0) {
      throw new IOException(pem + " has no certificate");
    }
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, factory.getTrustManagers(), null);
    return context;
  }
}
