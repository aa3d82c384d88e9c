package org.densitystudy.stores.hdfs;

import java.io.IOException;
import java.util.Arrays;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.hadoop.fs.FileStatus;
import org.densitystudy.stores.Admin;
import site.ycsb.DBException;

/** The folder of the table's files, which must not be written meanwhile. Options: those of {@link HdfsFiles}. */
public final class HdfsAdmin implements Admin {
  private final HdfsFiles files;

  public HdfsAdmin(Properties properties) throws DBException {
    this.files = HdfsFiles.opened(properties);
  }

  @Override
  public void empty(String table) throws IOException {
    files.deleteAll();
  }

  /** Every block has all its replicas. */
  @Override
  public void settle(String table) throws Exception {
    Admin.await(
        () -> {
          int lacking = files.blocksThatLackReplicas();
          return lacking == 0 ? "" : lacking + " blocks have fewer replicas than their files";
        });
  }

  @Override
  public Map<String, Object> state(String table) throws IOException {
    FileStatus[] found = files.statuses();
    Map<String, Object> state = new TreeMap<>();
    state.put("rows", files.rows());
    state.put("files", found.length);
    state.put("files_bytes", Arrays.stream(found).mapToLong(FileStatus::getLen).sum());
    return state;
  }

  @Override
  public void close() throws DBException {
    files.close();
  }
}
