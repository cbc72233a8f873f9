package io.mortise.simulation.toy;

import io.mortise.support.document.VersionedDocuments;
import io.mortise.testkit.contract.document.DocumentsContract;

/**
 * The documents of the toy store, by the published rules. All "processes" of the suite share one
 * object, which is the server itself: for several processes see {@code FileStoreProcessesTest}.
 */
class ClocklessToyDocumentsTest extends DocumentsContract {
  private final ClocklessToyDocuments server = new ClocklessToyDocuments();

  @Override
  protected VersionedDocuments open() {
    return server;
  }
}
