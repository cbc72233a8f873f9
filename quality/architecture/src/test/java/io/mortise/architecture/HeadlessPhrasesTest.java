package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The detector finds clauses without a noun at their head, and no good English. */
class HeadlessPhrasesTest {
  @Test
  void givenHeadlessPhrase_thenItIsFound() {
    assertThat(
            List.of(
                "Who waits is told.",
                "What was in doubt is sent again.",
                "It is over. Whoever has it may release it.",
                "mortise doctor: what servers guarantee.",
                "For who waits until the store has answered.",
                "Sends less than what was asked for.",
                "In the queue and what has left it.",
                "After a restart, what was lost is sent again.",
                "So that nobody else finds one.",
                "Which locks are shown."))
        .allSatisfy(prose -> assertThat(HeadlessPhrases.in(prose)).as(prose).hasSize(1));
  }

  @Test
  void givenGoodEnglish_thenNothingIsFound() {
    assertThat(
            List.of(
                "A client who waits is told.",
                "The client to whom the lock was granted.",
                "Tells who holds it and who waits.",
                "Says whether it is over, and what happened.",
                "Shows the lock and what it guarantees.",
                "The answer depends on who holds the lock.",
                "Does what it can, whatever the cause, in whatever state it is.",
                "The message says what to do. Who would read it otherwise?",
                "The order in which locks are shown.",
                "A notice (e.g. what a log shows)."))
        .allSatisfy(prose -> assertThat(HeadlessPhrases.in(prose)).as(prose).isEmpty());
  }
}
