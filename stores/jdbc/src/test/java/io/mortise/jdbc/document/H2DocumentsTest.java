package io.mortise.jdbc.document;

import org.junit.jupiter.api.Tag;

@Tag("extended")
class H2DocumentsTest extends SqlDocumentsSuite {
  H2DocumentsTest() {
    super(DocumentServers.H2);
  }
}
