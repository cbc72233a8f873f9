package io.mortise.cli.top;

import io.mortise.admin.LockInfo;
import io.mortise.admin.LockParticipant;
import io.mortise.cli.view.EvictionPrompt;
import io.mortise.console.view.OutputSanitizer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A question before an action. Actions that may let two processes work at the same time require
 * typing the lock's name; others a {@code y}.
 *
 * @param party the participant whose hold or wait is to be ended; null to open the lock
 * @param typed the part of the name typed so far
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
