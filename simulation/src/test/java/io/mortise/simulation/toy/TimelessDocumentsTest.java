package io.mortise.simulation.toy;

import io.mortise.spi.document.VersionedDocuments;
import io.mortise.testkit.contract.document.DocumentsContract;

/** The documents of the toy store, by the published rules. */
class TimelessDocumentsTest extends DocumentsContract {
  private final TimelessDocuments server = new TimelessDocuments(() -> 0);

  @Override
  protected VersionedDocuments open() {
    return server;
  }
}
