package io.mortise.jdbc.document;

import org.junit.jupiter.api.Tag;

@Tag("product")
class FirebirdDocumentsTest extends SqlDocumentsSuite {
  FirebirdDocumentsTest() {
    super(DocumentServers.FIREBIRD);
  }

  /**
   * Its driver begins a transaction, makes the long text, updates and commits by one request each.
   */
  @Override
  protected boolean writesInOneRequest() {
    return false;
  }
}
