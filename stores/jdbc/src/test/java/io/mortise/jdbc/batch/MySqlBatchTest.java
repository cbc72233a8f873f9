package io.mortise.jdbc.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.jdbc.JdbcStore;
import io.mortise.jdbc.MySqlServers;
import io.mortise.jdbc.TestSession;
import io.mortise.spi.AttemptId;
import io.mortise.spi.LockStore;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Requests of one process that travel together. */
@Tag("extended")
class MySqlBatchTest {
  /** Nobody renews meanwhile: longer than a slow machine takes. */
  private static final Duration TTL = Duration.ofMinutes(5);

  private static final int SIZE = 300;

  /** Names that would be one, or break a text, if they were not kept apart. */
  private static final List<String> NAMES =
      Stream.concat(
              Stream.of("a", "A", "á", "a ", " a", "a\"b", "a\\b", "a'b", "[{\"n\":1}]", "𝔘", "%"),
              IntStream.range(0, SIZE).mapToObj(i -> "n" + i))
          .toList();

  @ParameterizedTest
  @MethodSource("io.mortise.jdbc.dialect.MySqlFailureTest#servers")
  void givenManyLocks_whenTakenAndReleasedAtOnce_thenEachAnswerIsItsOwn(MySqlServers server)
      throws Exception {
    try (LockStore store = JdbcStore.open(server.url() + "&max-in-flight=20s&namespace=batch");
        LockStore elsewhere = JdbcStore.open(server.url() + "&max-in-flight=20s&namespace=batch")) {
      TestSession session = new TestSession(store, TTL);
      TestSession other = new TestSession(elsewhere, TTL);
      AttemptId foreign = other.attempt();
      other.granted("a ", foreign);
      long[] last = new long[NAMES.size()];
      long before = together(server);
      for (int round = 0; round < 3; round++) {
        List<AttemptId> attempts = NAMES.stream().map(name -> session.attempt()).toList();
        List<Reply> acquired = send(session, i -> acquire(i, attempts.get(i)));
        List<Reply> again = send(session, i -> acquire(i, attempts.get(i)));
        for (int i = 0; i < NAMES.size(); i++) {
          if (NAMES.get(i).equals("a ")) {
            assertThat(acquired.get(i)).isInstanceOf(Reply.Busy.class);
            assertThat(again.get(i)).isInstanceOf(Reply.Busy.class);
            continue;
          }
          assertThat(acquired.get(i)).as(NAMES.get(i)).isInstanceOf(Reply.Granted.class);
          Reply.Granted granted = (Reply.Granted) acquired.get(i);
          assertThat(granted.attempt()).isEqualTo(attempts.get(i));
          assertThat(granted.tokens()).isEqualTo(3);
          assertThat(granted.token()).as(NAMES.get(i)).isGreaterThan(last[i]);
          last[i] = granted.token() + granted.tokens() - 1;
          assertThat(((Reply.Granted) again.get(i)).token()).isEqualTo(granted.token());
          if (isTimed(i)) {
            assertThat(((Reply.Granted) again.get(i)).atMostLeft())
                .isLessThan(Duration.ofMinutes(1));
          }
        }
        List<Reply> released = send(session, i -> abandon(i, attempts.get(i)));
        List<Reply> twice = send(session, i -> abandon(i, attempts.get(i)));
        List<Reply> late = send(session, i -> acquire(i, attempts.get(i)));
        for (int i = 0; i < NAMES.size(); i++) {
          if (!NAMES.get(i).equals("a ")) {
            Reply.Ended ended =
                new Reply.Ended(
                    attempts.get(i), Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false);
            assertThat(released.get(i)).as(NAMES.get(i)).isEqualTo(ended);
            assertThat(twice.get(i)).as(NAMES.get(i)).isEqualTo(ended);
            assertThat(late.get(i)).as(NAMES.get(i)).isInstanceOf(Reply.Refused.class);
          }
        }
      }
      assertThat(together(server) - before).as("statements for several").isGreaterThan(3);
      assertThat(other.abandon("a ", foreign).was()).isEqualTo(Reply.AttemptState.HELD);
    }
  }

  private static boolean isTimed(int i) {
    return i % 10 == 0;
  }

  private static Request acquire(int i, AttemptId attempt) {
    HoldTerms terms =
        new HoldTerms(isTimed(i) ? Duration.ofMinutes(1) : null, null, "la\"bel\\" + i);
    LockName name = LockName.of(NAMES.get(i));
    return new Request.Acquire(name, attempt, Mode.EXCLUSIVE, false, terms, 3, 0, null);
  }

  private static Request abandon(int i, AttemptId attempt) {
    return new Request.Abandon(LockName.of(NAMES.get(i)), attempt);
  }

  private static List<Reply> send(TestSession session, Function<Integer, Request> request) {
    List<CompletableFuture<Reply>> replies = new ArrayList<>();
    for (int i = 0; i < NAMES.size(); i++) {
      CompletableFuture<Reply> reply = new CompletableFuture<>();
      replies.add(reply);
      session.session.submit(request.apply(i), reply::complete);
    }
    return replies.stream().map(TestSession::get).toList();
  }

  private static long together(MySqlServers server) throws Exception {
    try (Connection connection = server.adminConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW GLOBAL STATUS LIKE 'Com_insert_select'")) {
      assertThat(row.next()).isTrue();
      return row.getLong(2);
    }
  }
}
