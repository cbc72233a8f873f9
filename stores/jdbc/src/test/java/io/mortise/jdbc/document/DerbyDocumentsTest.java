package io.mortise.jdbc.document;

class DerbyDocumentsTest extends SqlDocumentsSuite {
  DerbyDocumentsTest() {
    super(DocumentServers.DERBY);
  }
}
