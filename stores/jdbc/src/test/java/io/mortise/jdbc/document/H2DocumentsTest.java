package io.mortise.jdbc.document;

class H2DocumentsTest extends SqlDocumentsSuite {
  H2DocumentsTest() {
    super(DocumentServers.H2);
  }
}
