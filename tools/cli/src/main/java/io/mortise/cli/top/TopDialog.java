package io.mortise.cli.top;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.view.EvictionPrompt;
import io.mortise.console.view.OutputSanitizer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A question before something is done. What may let two work at the same time wants the lock's name
 * typed; all else a {@code y}.
 *
 * @param party whose hold or wait is to be ended; null if the lock is to be opened
 * @param typed what was typed of the name so far
 */
record TopDialog(LockInfo lock, @Nullable LockParticipant party, boolean now, String typed) {

  TopDialog typed(String text) {
    return new TopDialog(lock, party, now, text);
  }

  boolean wantsName() {
    return now;
  }

  /** Whether the name was typed in full. */
  boolean isConfirmed() {
    return typed.equals(lock.name());
  }

  List<String> lines() {
    List<String> lines = new ArrayList<>();
    String question;
    if (party == null) {
      lines.add(EvictionPrompt.nobody(lock.name(), lock.shutFor()));
      lines.add(EvictionPrompt.MAY_GO_ON);
      question = EvictionPrompt.OPEN;
    } else {
      lines.addAll(EvictionPrompt.lines(lock, party, now));
      question = EvictionPrompt.question(now && lock.holders().contains(party));
    }
    lines.add("");
    lines.add(
        wantsName()
            ? question
                + " Type the lock's name, then Enter; Esc leaves it: "
                + OutputSanitizer.text(typed)
            : question + " [y/N]");
    return lines;
  }
}
