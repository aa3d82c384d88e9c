package org.densitystudy.table;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** The authorities in the PEM file of the property {@code densitystudy.ca}; without it, those of Java. */
final class Trust {
  private static final String PROPERTY = "densitystudy.ca";

  private Trust() {}

  static void apply(HttpsURLConnection connection) throws IOException, GeneralSecurityException {
    String file = System.getProperty(PROPERTY);
    if (file != null) {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers(Path.of(file)).getTrustManagers(), null);
      connection.setSSLSocketFactory(context.getSocketFactory());
    }
  }

  private static TrustManagerFactory managers(Path file)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream pem = Files.newInputStream(file)) {
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        store.setCertificateEntry("ca" + store.size(), one);
      }
    }
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory;
  }
}
