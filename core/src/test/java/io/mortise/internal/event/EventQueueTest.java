package io.mortise.internal.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class EventQueueTest {
  private final Queue<Runnable> threads = new ArrayDeque<>();
  private final List<String> done = new ArrayList<>();
  private final EventQueue queue = new EventQueue(threads::add, 2);

  private Runnable step(String name) {
    return () -> done.add(name);
  }

  private void runThreads() {
    while (!threads.isEmpty()) {
      threads.remove().run();
    }
  }

  @Test
  void givenTasks_thenOneThreadRunsThemInOrder_andNoneIsRunByWhoAddsThem() {
    queue.add(step("a"));
    queue.offer(step("b"));
    queue.add(step("c"));
    assertThat(done).isEmpty();
    assertThat(threads).hasSize(1);
    runThreads();
    assertThat(done).containsExactly("a", "b", "c");
    queue.add(step("d"));
    runThreads();
    assertThat(done).endsWith("d");
  }

  @Test
  void givenFullQueue_thenOfferedTasksAreDropped_andAddedOnesAreNot() {
    queue.offer(step("a"));
    queue.offer(step("b"));
    queue.offer(step("dropped"));
    queue.add(step("c"));
    runThreads();
    assertThat(done).containsExactly("a", "b", "c");
    queue.offer(step("d"));
    runThreads();
    assertThat(done).endsWith("d");
  }

  @Test
  void givenTaskThatAddsAnother_thenThatRunsAfterIt() {
    queue.add(
        () -> {
          queue.add(step("second"));
          done.add("first");
        });
    runThreads();
    assertThat(done).containsExactly("first", "second");
  }

  @Test
  void givenExecutorThatHasNoThread_thenTheNextTaskTriesAgain() {
    List<Runnable> later = new ArrayList<>();
    boolean[] refuses = {true};
    EventQueue refused =
        new EventQueue(
            task -> {
              if (refuses[0]) {
                throw new RejectedExecutionException("no thread");
              }
              later.add(task);
            },
            2);
    assertThatThrownBy(() -> refused.add(step("a"))).hasMessage("no thread");
    refuses[0] = false;
    refused.add(step("b"));
    later.forEach(Runnable::run);
    assertThat(done).containsExactly("a", "b");
  }
}
