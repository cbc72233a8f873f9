package io.mortise.jdbc.document;

import org.junit.jupiter.api.Tag;

@Tag("extended")
class HsqldbDocumentsTest extends SqlDocumentsSuite {
  HsqldbDocumentsTest() {
    super(DocumentServers.HSQLDB);
  }
}
