package io.mortise.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class OutboxLockTest {
  private final OutboxLock lock = new OutboxLock();
  private final List<String> calls = new ArrayList<>();

  private Runnable call(String what) {
    return () -> {
      assertThat(isFree()).as("the lock is free when '%s' is called", what).isTrue();
      calls.add(what);
    };
  }

  /** Whether another thread gets the lock. */
  private boolean isFree() {
    Thread other = new Thread(() -> lock.get(() -> 0));
    other.setDaemon(true);
    other.start();
    try {
      other.join(30_000);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return !other.isAlive();
  }

  @Test
  void givenCallsOfBothKinds_whenUnlocked_thenTheyAreMadeInOrderWithoutTheLock() {
    lock.lock();
    lock.send(call("first request"));
    lock.afterUnlock(call("first call"));
    lock.send(call("second request"));
    lock.afterUnlock(call("second call"));
    assertThat(calls).isEmpty();

    lock.unlock();

    assertThat(calls)
        .containsExactly("first call", "second call", "first request", "second request");
  }

  @Test
  void givenLockTakenTwice_whenInnerIsLetGo_thenCallsWaitForTheOuter() {
    lock.lock();
    lock.run(() -> lock.afterUnlock(call("call")));
    lock.run(() -> lock.send(call("request")));
    assertThat(calls).isEmpty();

    lock.unlock();

    assertThat(calls).containsExactly("call", "request");
  }

  @Test
  void givenCallsThatThrow_whenUnlocked_thenTheOthersAreMadeAllTheSame() {
    IllegalStateException first = new IllegalStateException("first");
    AssertionError second = new AssertionError("second");
    lock.lock();
    lock.afterUnlock(
        () -> {
          throw first;
        });
    lock.afterUnlock(call("call"));
    lock.send(
        () -> {
          throw second;
        });
    lock.send(
        () -> {
          throw first;
        });
    lock.send(call("request"));

    assertThatThrownBy(lock::unlock).isSameAs(first).hasSuppressedException(second);

    assertThat(calls).containsExactly("call", "request");
    lock.run(() -> lock.send(call("later request")));
    assertThat(calls).endsWith("later request");
  }

  @Test
  void givenChangeThatThrows_thenWhatItHadQueuedIsCalled() {
    assertThatThrownBy(
            () ->
                lock.run(
                    () -> {
                      lock.afterUnlock(call("call"));
                      throw new IllegalStateException("broken");
                    }))
        .hasMessage("broken");

    assertThat(calls).containsExactly("call");
  }

  @Test
  void givenRequestThatSends_thenTheNewOneFollowsWhenTheFirstIsDone() {
    lock.run(
        () ->
            lock.send(
                () -> {
                  calls.add("first begins");
                  lock.run(() -> lock.send(call("second")));
                  calls.add("first ends");
                }));

    assertThat(calls).containsExactly("first begins", "first ends", "second");
  }

  @Test
  void givenThreadThatSends_whenAnotherQueues_thenTheFirstSendsForIt() throws Exception {
    CountDownLatch inFirst = new CountDownLatch(1);
    CountDownLatch queued = new CountDownLatch(1);
    Thread sender =
        new Thread(
            () ->
                lock.run(
                    () ->
                        lock.send(
                            () -> {
                              inFirst.countDown();
                              await(queued);
                              calls.add("first");
                            })));
    sender.start();
    await(inFirst);

    lock.run(() -> lock.send(() -> calls.add("by " + Thread.currentThread().getName())));
    queued.countDown();
    sender.join(30_000);

    assertThat(calls).containsExactly("first", "by " + sender.getName());
  }

  @Test
  void givenManyThreads_thenRequestsLeaveInTheOrderInWhichTheyWereDecided() throws Exception {
    List<Integer> decided = new ArrayList<>();
    List<Integer> sent = new ArrayList<>();
    List<Thread> threads =
        IntStream.range(0, 4)
            .mapToObj(
                thread ->
                    new Thread(
                        () -> {
                          for (int i = 0; i < 2_000; i++) {
                            int request = thread * 2_000 + i;
                            lock.run(
                                () -> {
                                  decided.add(request);
                                  lock.send(() -> sent.add(request));
                                });
                          }
                        }))
            .toList();
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join(30_000);
    }

    assertThat(sent).hasSize(8_000).isEqualTo(decided);
  }

  private static void await(CountDownLatch latch) {
    try {
      assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
