package io.mortise.jdbc.document;

class HsqldbDocumentsTest extends SqlDocumentsSuite {
  HsqldbDocumentsTest() {
    super(DocumentServers.HSQLDB);
  }
}
