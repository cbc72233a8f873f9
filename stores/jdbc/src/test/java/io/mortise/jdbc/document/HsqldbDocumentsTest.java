package io.mortise.jdbc.document;

import org.junit.jupiter.api.Tag;

@Tag("product")
class HsqldbDocumentsTest extends SqlDocumentsSuite {
  HsqldbDocumentsTest() {
    super(DocumentServers.HSQLDB);
  }
}
