package org.densitystudy.stores;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import site.ycsb.DBException;

/**
 * TLS to servers of others: {@code -p store.ca.file=PATH}, a PEM file with the authorities that their certificates
 * come from. A certificate must be for the name or the address by which the client reaches the server.
 */
public final class Tls {
  private Tls() {}

  /** Null where the study names no authorities: the servers speak no TLS. */
  public static SSLContext context(Properties properties) throws DBException {
    String file = properties.getProperty("store.ca.file", "");
    if (file.isEmpty()) {
      return null;
    }
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, trusting(Path.of(file)).getTrustManagers(), null);
      return context;
    } catch (IOException | GeneralSecurityException failure) {
      throw new DBException("no authorities in the file " + file + ": " + failure, failure);
    }
  }

  private static TrustManagerFactory trusting(Path file)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
    store.load(null, null);
    try (InputStream pem = Files.newInputStream(file)) {
      for (Certificate one : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
        store.setCertificateEntry("ca" + store.size(), one);
      }
    }
    if (store.size() == 0) {
      throw new IOException("it has no certificate");
    }
    var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    factory.init(store);
    return factory;
  }
}
