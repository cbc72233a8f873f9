package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.Lease;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.client.TestClient;
import io.mortise.spi.Reply;
import io.mortise.spi.Request;
import io.mortise.spi.SessionNotification;
import io.mortise.spi.SessionSpec;
import io.mortise.spi.StoreSession;
import io.mortise.spi.time.Ticker;
import io.mortise.spi.time.WallClock;
import io.mortise.support.liveness.ForwardingSession;
import io.mortise.support.liveness.ForwardingStore;
import io.mortise.support.memory.MemStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SessionEventHandlerTest {
  private static final int SHORT_LIVED = 3;

  private final AtomicInteger opened = new AtomicInteger();

  /** A store that loses the first sessions at their first request. */
  private final class ForgetfulStore extends ForwardingStore {
    ForgetfulStore() {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      StoreSession session = super.open(spec, hints);
      return opened.incrementAndGet() > SHORT_LIVED ? session : new EndedSession(session);
    }
  }

  private static final class EndedSession extends ForwardingSession {
    EndedSession(StoreSession session) {
      super(session);
    }

    @Override
    public void submit(Request request, Consumer<Reply> sink) {
      sink.accept(
          new Reply.Refused(request.attempt(), Reply.RefusalReason.SESSION_GONE, "on purpose"));
    }
  }

  @Test
  @Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void givenSessionThatIsLostWhileItOpens_whenSeveralWaitForIt_thenTheyGetTheirLocksFromTheNext()
      throws Exception {
    try (EngineClient client = TestClient.on(new ForgetfulStore())) {
      List<CompletableFuture<Lease>> waiting =
          List.of("a", "b", "c", "d").stream()
              .map(name -> client.lock(name).acquireAsync().toCompletableFuture())
              .toList();
      for (CompletableFuture<Lease> lease : waiting) {
        lease.get(20, TimeUnit.SECONDS).close();
      }
    }
    assertThat(opened.get()).isGreaterThan(SHORT_LIVED);
  }
}
