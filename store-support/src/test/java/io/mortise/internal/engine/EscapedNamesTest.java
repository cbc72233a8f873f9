package io.mortise.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.Lease;
import io.mortise.LeaseInDoubtException;
import io.mortise.LeaseLostException;
import io.mortise.StoreUnavailableException;
import io.mortise.internal.client.EngineClient;
import io.mortise.internal.client.TestClient;
import io.mortise.internal.engine.state.LeaseImpl;
import io.mortise.internal.engine.state.LeaseLeakDetector;
import io.mortise.internal.session.LiveSession;
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
import io.mortise.verification.log.RecordedLog;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages and log lines with a lock's name that changes the direction of text. */
@Timeout(60)
class EscapedNamesTest {
  private static final String NAME = "escaped/\u202egnp.exe";
  private static final String SHOWN = "ock 'escaped/\\u{202e}gnp.exe";

  /** Refuses changes of a hold, and does not answer acquires once it is silent. */
  private static final class RefusingStore extends ForwardingStore {
    volatile boolean silent;

    RefusingStore() {
      super(new MemStore(Ticker.SYSTEM, WallClock.SYSTEM));
    }

    @Override
    public StoreSession open(SessionSpec spec, Consumer<SessionNotification> hints) {
      return new ForwardingSession(super.open(spec, hints)) {
        @Override
        public void submit(Request request, Consumer<Reply> sink) {
          if (request instanceof Request.Adjust) {
            sink.accept(
                new Reply.Refused(request.attempt(), Reply.RefusalReason.NOT_HELD, "Not held."));
          } else if (silent && request instanceof Request.Acquire) {
            sink.accept(
                new Reply.Failed(
                    request.attempt(), false, new StoreUnavailableException("silent")));
          } else {
            super.submit(request, sink);
          }
        }
      };
    }
  }

  private final RefusingStore store = new RefusingStore();

  @Test
  void givenNameThatTurnsTheDirectionOfText_thenMessagesAndLogLinesEscapeIt() throws Exception {
    try (EngineClient client = TestClient.on(store)) {
      drop(client);
      while (leaks().isEmpty()) {
        System.gc();
        LockSupport.parkNanos(1_000_000);
      }
      assertThat(leaks()).singleElement().asString().contains(SHOWN).doesNotContain("\u202e");
      try (Lease permit = client.semaphore(NAME + "/s", 3).acquire()) {
        escapes(IllegalStateException.class, permit::downgrade);
      }
      Lease lease = client.lock(NAME + "/held").acquire();
      escapes(LeaseLostException.class, () -> lease.keepShut(Duration.ofSeconds(1)));
      Lease doubtful = client.lock(NAME + "/doubtful").acquire();
      store.silent = true;
      inDoubt(LeaseLeakDetector.unwrap(doubtful));
      escapes(LeaseInDoubtException.class, doubtful::ensureValid);
      store.silent = false;
    }
  }

  private static List<String> leaks() {
    return RecordedLog.linesWith("gnp.exe' was dropped");
  }

  /** The first lease of a client is watched. */
  private static void drop(EngineClient client) throws InterruptedException {
    assertThat(client.lock(NAME).acquire().isValid()).isTrue();
  }

  private static void escapes(Class<? extends RuntimeException> type, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(type)
        .hasMessageContaining(SHOWN)
        .message()
        .doesNotContain("\u202e");
  }

  /** Makes the lease's store forget its answers to the session. */
  private static void inDoubt(LeaseImpl lease) {
    LiveSession session = lease.validity().session();
    session.listener().inDoubt(session);
  }
}
