package io.mortise.redis.plain;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.redis.transport.ErrorReplyException;
import io.mortise.redis.transport.StubTransport;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.Mode;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** On servers with a command to compare and delete, found by trying, that command is used. */
class CompareAndDeleteTest {
  /** As much of a server as needed, with one of the two commands or none. */
  private static final class CompareAndDeleteServer extends StubTransport {
    final List<String> called = new ArrayList<>();
    private final Map<String, String> keys = new HashMap<>();
    private final String command;

    CompareAndDeleteServer(String command) {
      this.command = command;
    }

    private @Nullable Object answer(String... words) {
      called.add(words[0]);
      if (words[0].equals(command)) {
        String value = words[words.length - 1];
        return keys.remove(words[1], value) ? 1L : 0L;
      }
      return switch (words[0]) {
        case "SCRIPT" -> "sha";
        case "TIME" -> List.of("1700000000", "0");
        case "SET" -> keys.putIfAbsent(words[1], words[2]) == null ? "OK" : null;
        case "EVALSHA" -> keys.remove(words[3], words[4]) ? 1L : 0L;
        default -> throw new ErrorReplyException("ERR unknown command '" + words[0] + "'");
      };
    }

    @Override
    public CompletionStage<@Nullable Object> call(String... words) {
      try {
        return CompletableFuture.completedFuture(answer(words));
      } catch (ErrorReplyException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    @Override
    public void schedule(Runnable task, Duration delay) {}
  }

  @ParameterizedTest
  @ValueSource(strings = {"DELEX", "DELIFEQ", "none of them"})
  void givenCommandOfTheServer_thenItGivesBackByIt_elseByAScript(String command) {
    CompareAndDeleteServer server = new CompareAndDeleteServer(command);
    try (PlainStore store =
        new PlainStore(
            server,
            server,
            () -> {},
            new PlainOptions(KeyLayout.STRING, "", Duration.ofSeconds(5)),
            0,
            "test",
            Ticker.SYSTEM)) {
      SessionId id = new SessionId("AAAAAAAAAAAA");
      StoreSession session =
          store.open(
              new SessionSpec(id, Duration.ofMinutes(1), new ClientLabel("h", 1, "c")),
              notifications -> {});
      session.renew(0, 1, List.of()).toCompletableFuture().join();
      LockName name = LockName.of("x");
      AttemptId attempt = new AttemptId(id, 1);
      List<Reply> replies = new ArrayList<>();
      session.submit(
          new Request.Acquire(name, attempt, Mode.EXCLUSIVE, false, HoldTerms.NONE, 1, 0, null),
          replies::add);
      server.called.clear();
      session.submit(new Request.Abandon(name, attempt), replies::add);
      assertThat(replies.get(0)).isInstanceOf(Reply.Granted.class);
      assertThat(replies.get(1))
          .isEqualTo(
              new Reply.Ended(attempt, Reply.AttemptState.HELD, Reply.EndReason.RELEASED, false));
      assertThat(server.called).containsExactly(command.startsWith("DEL") ? command : "EVALSHA");
    }
  }
}
