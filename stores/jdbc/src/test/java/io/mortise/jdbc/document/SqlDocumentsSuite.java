package io.mortise.jdbc.document;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.contract.document.DocumentsContract;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

/** Documents in a real database. */
abstract class SqlDocumentsSuite extends DocumentsContract {
  private final DocumentServers product;
  private final String namespace = DocumentServers.namespace();

  SqlDocumentsSuite(DocumentServers product) {
    this.product = product;
  }

  private String url() {
    return product.shared().url();
  }

  @Override
  protected VersionedDocuments open() {
    return DocumentServers.open(url(), namespace, Duration.ofSeconds(30));
  }

  @Override
  protected VersionedDocuments openBehind(int port) {
    return DocumentServers.open(
        url().replace(":" + port(), ":" + port), namespace, Duration.ofMinutes(1));
  }

  @Override
  protected int port() {
    return product.shared().port();
  }

  @Override
  protected boolean pushes() {
    return false;
  }

  private interface Statements {
    void on(Connection connection) throws SQLException;
  }

  private void inDatabase(Statements statements) {
    try (Connection connection = DriverManager.getConnection(url())) {
      statements.on(connection);
    } catch (SQLException e) {
      throw new AssertionError(e);
    }
  }

  /** Fencing tokens follow the versions. */
  @Test
  void givenRowsLost_thenVersionsAreGreaterAllTheSame() {
    for (String lost : List.of(" lock/a", " %")) {
      VersionedText before = read("lock/a");
      for (int i = 0; i < 3; i++) {
        assertThat(write("lock/a", before, "one")).isTrue();
        before = read("lock/a");
      }
      inDatabase(
          connection -> {
            try (PreparedStatement delete =
                connection.prepareStatement("DELETE FROM mortise_document WHERE doc_name LIKE ?")) {
              delete.setString(1, namespace + lost);
              assertThat(delete.executeUpdate()).isPositive();
            }
          });
      BoundedWait.pass(Duration.ofSeconds(1));
      assertThat(write("lock/a", before, "late")).isFalse();
      VersionedText absent = read("lock/a");
      assertThat(absent.text()).isNull();
      assertThat(write("lock/a", absent, "anew")).isTrue();
      assertThat(Long.parseLong(read("lock/a").version()))
          .isGreaterThan(Long.parseLong(before.version()));
    }
  }

  /** As of a database that answers before its commits are on the disk. */
  @Test
  void givenLastWriteLost_thenTheNextVersionIsGreaterAllTheSame() {
    assertThat(write("lock/a", read("lock/a"), "one")).isTrue();
    VersionedText kept = read("lock/a");
    assertThat(write("lock/a", kept, "two")).isTrue();
    long lost = Long.parseLong(read("lock/a").version());
    inDatabase(
        connection -> {
          try (PreparedStatement back =
              connection.prepareStatement(
                  "UPDATE mortise_document SET doc_version = ? WHERE doc_name = ?")) {
            back.setLong(1, Long.parseLong(kept.version()));
            back.setString(2, namespace + " lock/a");
            assertThat(back.executeUpdate()).isOne();
          }
        });
    BoundedWait.pass(Duration.ofSeconds(1));
    assertThat(write("lock/a", kept, "three")).isTrue();
    assertThat(Long.parseLong(read("lock/a").version())).isGreaterThan(lost);
  }

  @Test
  void givenRowOfAnotherProgram_thenItIsNoDocument_andItIsSaidSo() {
    DocumentKey odd = DocumentKey.of(namespace, "lock/odd");
    inDatabase(
        connection -> {
          try (PreparedStatement insert =
              connection.prepareStatement("INSERT INTO mortise_document VALUES (?, ?, 1, ?)")) {
            insert.setString(1, odd.row());
            insert.setString(2, odd.name());
            insert.setString(3, "odd");
            insert.executeUpdate();
          }
        });
    assertThatThrownBy(() -> read("lock/odd"))
        .hasMessageContaining("StoreUnfitException")
        .hasMessageContaining("was written by another program");
  }

  /** Firebird tells of an erased record, and the connection stays. */
  @Test
  void givenRowThatIsBeingRemoved_whenAWriteWaitsForIt_thenItIsRefused() {
    assertThat(write("lock/a", read("lock/a"), "one")).isTrue();
    VersionedText found = read("lock/a");
    inDatabase(
        connection -> {
          connection.setAutoCommit(false);
          try (PreparedStatement delete =
              connection.prepareStatement("DELETE FROM mortise_document WHERE doc_name = ?")) {
            delete.setString(1, DocumentKey.of(namespace, "lock/a").name());
            assertThat(delete.executeUpdate()).isOne();
          }
          CompletionStage<Written> waiting = documents().compareAndSet("lock/a", found, "two");
          BoundedWait.pass(Duration.ofMillis(300));
          connection.commit();
          assertThat(BoundedWait.join(waiting).made()).isFalse();
        });
  }

  @Test
  void givenClosedDocuments_thenRequestsSaySo() {
    VersionedDocuments closed = open();
    closed.close();
    assertThatThrownBy(() -> BoundedWait.join(closed.read("lock/a")))
        .hasMessageContaining("StoreUnavailableException")
        .hasMessageContaining("closed");
  }
}
