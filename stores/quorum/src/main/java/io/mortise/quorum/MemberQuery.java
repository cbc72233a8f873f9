package io.mortise.quorum;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/** One question to several members, and the answers that arrived in time. */
final class MemberQuery {
  private MemberQuery() {}

  record MemberCall<T>(Member member, Callable<CompletionStage<T>> ask) {}

  /**
   * The members' answers, and the reasons of the others. Made once all have answered, or the time
   * is over.
   *
   * @param size number of members, asked or not
   */
  record MemberReplies<T>(Map<Member, T> answers, List<Throwable> failures, int size) {}

  static <T> CompletableFuture<MemberReplies<T>> ask(
      List<MemberCall<T>> memberCalls, int size, long timeoutNanos) {
    Map<Member, CompletableFuture<T>> asked = new LinkedHashMap<>();
    for (MemberCall<T> memberCall : memberCalls) {
      asked.put(memberCall.member(), ask(memberCall, timeoutNanos));
    }
    return CompletableFuture.allOf(asked.values().toArray(new CompletableFuture<?>[0]))
        .handle(
            (done, failed) -> {
              Map<Member, T> answers = new LinkedHashMap<>();
              List<Throwable> failures = new ArrayList<>();
              asked.forEach(
                  (member, future) -> {
                    var unused =
                        future.whenComplete(
                            (answer, failure) -> {
                              if (failure == null) {
                                answers.put(member, answer);
                              } else {
                                failures.add(
                                    failure.getCause() == null ? failure : failure.getCause());
                              }
                            });
                  });
              return new MemberReplies<>(answers, failures, size);
            });
  }

  private static <T> CompletableFuture<T> ask(MemberCall<T> memberCall, long timeoutNanos) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    try {
      memberCall
          .ask()
          .call()
          .whenComplete(
              (value, failure) -> {
                if (failure == null) {
                  answer.complete(value);
                } else {
                  answer.completeExceptionally(failure);
                }
              });
    } catch (Exception e) {
      answer.completeExceptionally(e);
    }
    return answer.orTimeout(timeoutNanos, TimeUnit.NANOSECONDS);
  }
}
