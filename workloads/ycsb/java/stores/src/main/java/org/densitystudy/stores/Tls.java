package org.densitystudy.stores;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.Properties;
import javax.net.ssl.SSLContext;
import org.densitystudy.ycsb.Authorities;
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
      return Authorities.trusting(Path.of(file));
    } catch (IOException | GeneralSecurityException failure) {
      throw new DBException("no authorities in the file " + file + ": " + failure, failure);
    }
  }
}
