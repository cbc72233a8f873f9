package io.mortise.jdbc;

import io.mortise.spi.LockStore;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class SqliteMirrorTest extends MirrorTest {
  @TempDir Path directory;

  @Override
  LockStore open() {
    return JdbcStore.open("jdbc:sqlite:" + directory.resolve("locks.db"));
  }
}
