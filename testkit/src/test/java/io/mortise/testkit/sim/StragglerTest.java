package io.mortise.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.LockOptions;
import io.mortise.internal.engine.EngineClient;
import io.mortise.internal.engine.SystemEnv;
import io.mortise.internal.table.MemStore;
import io.mortise.spi.AttemptId;
import io.mortise.spi.ClientLabel;
import io.mortise.spi.LockName;
import io.mortise.spi.LockPage;
import io.mortise.spi.LockQuery;
import io.mortise.spi.LockStore;
import io.mortise.spi.News;
import io.mortise.spi.Renewal;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreProfile;
import io.mortise.spi.StoreSession;
import io.mortise.spi.Verdict;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
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
    SystemEnv env = new SystemEnv();
    return new EngineClient(store, env.env(TTL, new ClientLabel("-", 1, name)), env::close);
  }

  /** The table, but for the answers to abandons, which can be held back. */
  private static final class SlowAnswers implements LockStore {
    private final MemStore table;
    private volatile boolean holdsBack;
    private volatile Runnable repeat = () -> {};
    private volatile Runnable answer = () -> {};

    SlowAnswers(MemStore table) {
      this.table = table;
    }

    void repeatAcquire() {
      repeat.run();
    }

    void answer() {
      holdsBack = false;
      answer.run();
    }

    @Override
    public StoreProfile profile() {
      return table.profile();
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<News> hints) {
      StoreSession session = table.open(spec, hints);
      return new StoreSession() {
        @Override
        public SessionId id() {
          return session.id();
        }

        @Override
        public void submit(Request request, Consumer<Reply> sink) {
          if (request instanceof Request.Acquire) {
            repeat = () -> session.submit(request, reply -> {});
          }
          if (request instanceof Request.Abandon && holdsBack) {
            session.submit(request, reply -> answer = () -> sink.accept(reply));
          } else {
            session.submit(request, sink);
          }
        }

        @Override
        public CompletionStage<Renewal> renew(long previous, long next, List<Long> seen) {
          return session.renew(previous, next, seen);
        }

        @Override
        public CompletionStage<Void> close() {
          return session.close();
        }
      };
    }

    @Override
    public CompletionStage<Verdict> judge(SessionId session) {
      return table.judge(session);
    }

    @Override
    public CompletionStage<LockPage> inspect(LockQuery query) {
      return table.inspect(query);
    }

    @Override
    public CompletionStage<Reply.Ended> evict(LockName name, AttemptId attempt, Eviction how) {
      return table.evict(name, attempt, how);
    }

    @Override
    public CompletionStage<Integer> sweep(int budget) {
      return table.sweep(budget);
    }

    @Override
    public void close() {}
  }
}
