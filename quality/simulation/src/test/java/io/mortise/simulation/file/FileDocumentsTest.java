package io.mortise.simulation.file;

import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.contract.document.DocumentsContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.io.TempDir;

/**
 * Documents in a folder, by the published rules. All "processes" of the suite share one object, so
 * its tests of two processes say nothing here: {@link FileStoreProcessesTest} has real ones.
 */
class FileDocumentsTest extends DocumentsContract {
  @TempDir private Path folder;

  /** Shared by all, since a process opens a folder once. */
  private @Nullable FileDocuments opened;

  @Override
  protected VersionedDocuments open() {
    FileDocuments present = opened;
    if (present == null) {
      try {
        present = new FileDocuments(folder, Duration.ofSeconds(20));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      opened = present;
    }
    return present;
  }

  @Override
  protected boolean pushes() {
    return false;
  }
}
