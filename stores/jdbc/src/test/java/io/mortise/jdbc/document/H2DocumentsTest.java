package io.mortise.jdbc.document;

import org.junit.jupiter.api.Tag;

@Tag("product")
class H2DocumentsTest extends SqlDocumentsSuite {
  H2DocumentsTest() {
    super(DocumentServers.H2);
  }
}
