package io.mortise.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.internal.engine.EngineClient;
import io.mortise.internal.engine.EngineRules;
import io.mortise.internal.table.MemStore;
import io.mortise.spi.LockStore;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.StoreSession;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** What the simulation found once in a million worlds, told step by step. */
class StragglerTest {
  private static final Duration TTL = Duration.ofMinutes(5);

  private final MemStore table = new MemStore();

  @Test
  void givenStragglerAfterRelease_whenItIsMetBeforeTheReleaseIsAnswered_thenItDies()
      throws Exception {
    SlowAnswers slow = new SlowAnswers(table);
    try (EngineClient holder = client(slow, "holder");
        EngineClient contender = client(table, "contender")) {
      Lease first = holder.lock("job").with(LockOptions.DEFAULTS.withReleaseAsync(true)).acquire();
      slow.holdsBack = true;
      first.close();
      // The release is executed and not yet answered; then comes a copy of the acquire. In between
      // somebody else ended something, so that the table has forgotten the end.
      contender.lock("job").acquire().close();
      slow.repeatAcquire();
      var waits = contender.lock("job").acquireAsync();
      slow.answer();

      assertThat(waits.get(10, TimeUnit.SECONDS).isValid()).isTrue();
    }
  }

  private static EngineClient client(LockStore store, String name) {
    return Between.client(store, name, TTL, EngineRules.ALL);
  }

  /** The table, but for the answers to abandons, which can be held back. */
  private static final class SlowAnswers extends Between {
    private volatile boolean holdsBack;
    private volatile Runnable repeat = () -> {};
    private volatile Runnable answer = () -> {};

    SlowAnswers(MemStore table) {
      super(table);
    }

    void repeatAcquire() {
      repeat.run();
    }

    void answer() {
      holdsBack = false;
      answer.run();
    }

    @Override
    void submit(StoreSession session, Request request, Consumer<Reply> sink) {
      if (request instanceof Request.Acquire) {
        repeat = () -> session.submit(request, reply -> {});
      }
      if (request instanceof Request.Abandon && holdsBack) {
        session.submit(request, reply -> answer = () -> sink.accept(reply));
      } else {
        session.submit(request, sink);
      }
    }
  }
}
