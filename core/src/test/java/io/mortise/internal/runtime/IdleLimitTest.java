package io.mortise.internal.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class IdleLimitTest {
  /** An owner with the given items, oldest first. */
  private static final class Owner implements IdleLimit.IdleOwner {
    private final IdleLimit limit;
    private final Deque<Long> idle = new ArrayDeque<>();
    private final List<Long> ended = new ArrayList<>();

    Owner(IdleLimit limit) {
      this.limit = limit;
      limit.add(this);
    }

    void add(long since) {
      boolean tooMany;
      synchronized (this) {
        idle.add(since);
        tooMany = limit.begins();
      }
      if (tooMany) {
        limit.trim();
      }
    }

    @Override
    public synchronized OptionalLong oldestSince() {
      Long oldest = idle.peek();
      return oldest == null ? OptionalLong.empty() : OptionalLong.of(oldest);
    }

    @Override
    public synchronized void endOldest(long since) {
      Long oldest = idle.peek();
      if (oldest != null && oldest <= since) {
        ended.add(idle.remove());
        limit.ends();
      }
    }

    synchronized int size() {
      return idle.size();
    }
  }

  @Test
  void givenTwoParts_whenThereIsOneTooMany_thenTheOldestOfBothEnds() {
    IdleLimit limit = new IdleLimit(3);
    Owner one = new Owner(limit);
    Owner other = new Owner(limit);
    one.add(1);
    one.add(4);
    other.add(2);
    other.add(5);
    assertThat(one.ended).containsExactly(1L);
    other.add(6);
    assertThat(one.ended).containsExactly(1L);
    assertThat(other.ended).containsExactly(2L);
  }

  @Test
  void givenLimitOfNone_thenNothingStaysIdle() {
    Owner owner = new Owner(new IdleLimit(0));
    owner.add(1);
    assertThat(owner.size()).isZero();
  }

  @Test
  void givenThreadsThatAddTogether_thenNoMoreEndThanAreTooMany() throws Exception {
    IdleLimit limit = new IdleLimit(10);
    List<Owner> owners = List.of(new Owner(limit), new Owner(limit), new Owner(limit));
    AtomicInteger clock = new AtomicInteger();
    CyclicBarrier start = new CyclicBarrier(4);
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      int first = i;
      Thread thread =
          new Thread(
              () -> {
                try {
                  start.await();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
                for (int k = 0; k < 2_000; k++) {
                  owners.get((first + k) % 3).add(clock.incrementAndGet());
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(owners.stream().mapToInt(Owner::size).sum()).isEqualTo(10);
  }
}
