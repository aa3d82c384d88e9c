package org.densitystudy.table;

import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import javax.net.ssl.HttpsURLConnection;
import org.densitystudy.ycsb.Authorities;

/** The authorities in the PEM file of the property {@code densitystudy.ca}; without it, those of Java. */
final class Trust {
  private static final String PROPERTY = "densitystudy.ca";

  private Trust() {}

  static void apply(HttpsURLConnection connection) throws IOException, GeneralSecurityException {
    String file = System.getProperty(PROPERTY);
    if (file != null) {
      connection.setSSLSocketFactory(Authorities.trusting(Path.of(file)).getSocketFactory());
    }
  }
}
