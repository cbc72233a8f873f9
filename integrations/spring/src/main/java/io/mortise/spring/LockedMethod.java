package io.mortise.spring;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ReactiveAdapter;

/**
 * A valid method with {@link Locked}.
 *
 * @param description class, name and parameters, for messages
 * @param kind how its work ends
 * @param adapter of its result, where the kind is {@link Kind#REACTIVE}
 * @param skipped the result of a skipped call
 * @param throwsInterrupted whether it declares {@link InterruptedException}
 */
record LockedMethod(
    String description,
    Kind kind,
    LockPlan plan,
    List<NameTemplate> templates,
    @Nullable ReactiveAdapter adapter,
    @Nullable Object skipped,
    boolean throwsInterrupted) {
  /** How the work of a method ends. */
  enum Kind {
    /** With its return. */
    PLAIN,
    /** With a {@code CompletionStage}, without blocking a thread. */
    STAGE,
    /** With a {@code CompletionStage}, on the thread of an executor that may wait. */
    STAGE_ON_EXECUTOR,
    /** With each subscription. */
    REACTIVE
  }

  /** The locks for a call with these arguments, each once. */
  Collection<String> names(@Nullable Object[] arguments) {
    if (templates.size() == 1) {
      return List.of(templates.get(0).evaluate(arguments));
    }
    Set<String> names = new LinkedHashSet<>();
    for (NameTemplate template : templates) {
      names.add(template.evaluate(arguments));
    }
    return names;
  }

  @Override
  public String toString() {
    return description;
  }
}
