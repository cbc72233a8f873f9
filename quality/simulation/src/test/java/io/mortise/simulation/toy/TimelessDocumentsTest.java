package io.mortise.simulation.toy;

import io.mortise.spi.document.VersionedDocuments;
import io.mortise.testkit.contract.document.DocumentsContract;

/**
 * The documents of the toy store, by the published rules. All "processes" of the suite share one
 * object, which is the server itself: nothing here shows what two processes do. For that see {@code
 * FileStoreProcessesTest}.
 */
class TimelessDocumentsTest extends DocumentsContract {
  private final TimelessDocuments server = new TimelessDocuments();

  @Override
  protected VersionedDocuments open() {
    return server;
  }
}
