package org.densitystudy.stores;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import site.ycsb.DBException;

class TlsTest {
  @TempDir Path folder;

  @Test
  void withoutAuthoritiesThereIsNoTls() throws DBException {
    assertNull(Tls.context(new Properties()));
  }

  @Test
  void aFileWithoutAuthoritiesIsNamed() throws IOException {
    Path empty = Files.createFile(folder.resolve("empty.pem"));
    Path text = Files.writeString(folder.resolve("text.pem"), "no certificate");
    for (Path file : new Path[] {empty, text, folder.resolve("none.pem")}) {
      Properties properties = new Properties();
      properties.setProperty("store.ca.file", file.toString());
      DBException refused = assertThrows(DBException.class, () -> Tls.context(properties));
      assertTrue(refused.getMessage().contains(file.toString()), refused.getMessage());
    }
  }
}
