package io.mortise.support.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import io.mortise.support.table.LockRecord.HoldEntry;
import io.mortise.support.table.LockRecord.WaiterEntry;
import org.junit.jupiter.api.Test;

class DecodedLocksTest {
  private static final LockName NAME = LockName.of("invoice/42");
  private static final AttemptId ATTEMPT = new AttemptId(new SessionId("sessionAaaaa"), 1);

  private final DecodedLocks locks = new DecodedLocks();
  private final LockDocument lock = new LockDocument(NAME, Mode.SHARERS);
  private final HoldEntry hold = new HoldEntry(ATTEMPT, Mode.SHARERS, "worker", 1);

  private String encodedHold() {
    lock.holders.put(ATTEMPT, hold);
    lock.used = hold.weight;
    return locks.encode(lock);
  }

  @Test
  void givenEncodedDocument_whenItsTextIsDecoded_thenItIsTheSame_butNotUnderAnotherName() {
    String text = encodedHold();
    assertThat(locks.decode(NAME, text)).isSameAs(lock);
    assertThat(locks.decode(NAME, text + "er")).isNotSameAs(lock);
    assertThat(locks.decode(NAME, null)).isNull();
    LockName other = LockName.of("invoice/43");
    assertThat(locks.decode(other, text)).extracting(found -> found.name).isEqualTo(other);
  }

  @Test
  void givenHoldThatWasEvicted_thenItsDocumentIsDecodedAnew_sinceAnObservationChangesIt() {
    hold.evicted = true;
    String text = encodedHold();
    LockDocument first = locks.decode(NAME, text);
    assertThat(first).isNotNull().isNotSameAs(lock).isNotSameAs(locks.decode(NAME, text));
  }

  @Test
  void givenWaiter_thenItsDocumentIsDecodedAnew() {
    lock.queue.put(0L, new WaiterEntry(acquire(), 0, 1));
    lock.nextTicket = 1;
    assertThat(locks.decode(NAME, encodedHold())).isNotNull().isNotSameAs(lock);
  }

  private static Request.Acquire acquire() {
    AttemptId waiting = new AttemptId(new SessionId("sessionBbbbb"), 1);
    return new Request.Acquire(NAME, waiting, Mode.EXCLUSIVE, true, HoldTerms.NONE, 1, 0, null);
  }
}
