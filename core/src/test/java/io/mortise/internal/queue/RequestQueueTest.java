package io.mortise.internal.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.HoldTerms;
import io.mortise.LockName;
import io.mortise.spi.AttemptId;
import io.mortise.spi.Mode;
import io.mortise.spi.Request;
import io.mortise.spi.SessionId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestQueueTest {
  private static final SessionId SESSION = new SessionId("AAAAAAAAAAAA");
  private static final LockName NAME = LockName.of("a");

  private final RequestQueue<String> queue = new RequestQueue<>();

  private void acquire(int number) {
    queue.add(acquire(number, false), "acquire " + number);
  }

  private static Request acquire(int number, boolean confirms) {
    AttemptId attempt = new AttemptId(SESSION, number);
    return new Request.Acquire(
        NAME, attempt, Mode.EXCLUSIVE, !confirms, HoldTerms.NONE, 1, 0, null, confirms);
  }

  private void end(int number) {
    queue.add(new Request.Abandon(NAME, new AttemptId(SESSION, number)), "end " + number);
  }

  private List<String> rest() {
    List<String> rest = new ArrayList<>();
    while (!queue.isEmpty()) {
      String next = queue.peek();
      assertThat(queue.poll()).isEqualTo(next);
      rest.add(next);
    }
    return rest;
  }

  @Test
  void givenNothing_thenThereIsNoNext() {
    assertThat(queue.isEmpty()).isTrue();
    assertThat(queue.peek()).isNull();
    assertThat(queue.poll()).isNull();
  }

  @Test
  void givenAcquires_whenOthersEnd_thenEndsGoFirst() {
    acquire(1);
    acquire(2);
    end(3);
    queue.add(null, "look");
    end(4);

    assertThat(rest()).containsExactly("end 3", "look", "end 4", "acquire 1", "acquire 2");
  }

  @Test
  void givenAnAcquire_whenItsOwnAttemptEnds_thenItGoesBeforeThatEnd() {
    acquire(1);
    acquire(2);
    acquire(3);
    end(2);

    assertThat(rest()).containsExactly("acquire 2", "end 2", "acquire 1", "acquire 3");
  }

  @Test
  void givenRequestsOfOneAttempt_thenTheyKeepTheirOrder() {
    acquire(1);
    acquire(2);
    acquire(2);
    end(2);
    acquire(2);

    assertThat(rest()).containsExactly("acquire 2", "acquire 2", "end 2", "acquire 1", "acquire 2");
  }

  @Test
  void givenAcquires_whenAHoldIsConfirmed_thenThatGoesFirst_andBeforeItsOwnEnd() {
    acquire(1);
    acquire(2);
    queue.add(acquire(3, true), "confirm 3");
    queue.add(acquire(2, true), "confirm 2");
    end(3);

    assertThat(rest()).containsExactly("confirm 3", "acquire 2", "confirm 2", "end 3", "acquire 1");
  }
}
