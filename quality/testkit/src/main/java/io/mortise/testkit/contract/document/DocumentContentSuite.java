package io.mortise.testkit.contract.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.StoreUnavailableException;
import io.mortise.support.document.DocumentTooLargeException;
import io.mortise.support.document.VersionedDocuments;
import io.mortise.support.document.VersionedDocuments.ListedText;
import io.mortise.support.document.VersionedDocuments.VersionedText;
import io.mortise.support.document.VersionedDocuments.Written;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.NameVectors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Keys and texts are kept as they are, and listed. */
abstract class DocumentContentSuite extends DocumentCrowdSuite {
  /** More than the limits of most servers. */
  private static final int LONGEST = 4 << 20;

  /** More than the thousand keys that many servers list at a time. */
  private static final int MANY = 1100;

  /**
   * One is as long as the record of a lock with a thousand waiters. Some servers have 16-bit
   * lengths.
   */
  @Test
  void givenLongTexts_thenAllOfEachIsKept() {
    VersionedDocuments documents = documents();
    for (String text :
        List.of(
            "x".repeat(60_000),
            "é😀".repeat(20_000) + "\nend",
            "x".repeat(65_535),
            "x".repeat(65_536))) {
      Written made = BoundedWait.join(documents.compareAndSet("lock/a", read("lock/a"), text));
      assertIs(text, standing(documents, "lock/a", made));
      assertIs(text, read("lock/a"));
    }
  }

  private static void assertIs(String text, VersionedText stands) {
    String kept = stands.text();
    assertThat(kept == null ? 0 : kept.length()).as("characters").isEqualTo(text.length());
    assertThat(text.equals(kept)).as("it is this text").isTrue();
  }

  /** Server and adapter have several limits. Finds the exact one. */
  @Test
  void givenTextsOfAnyLength_thenEachIsKept_orRefusedAndTheDocumentStandsAsBefore() {
    int kept = 64 << 10;
    int refused = 2 * kept;
    assertThat(isKept(kept)).as("a document of %s characters is kept", kept).isTrue();
    while (refused <= LONGEST && isKept(refused)) {
      kept = refused;
      refused *= 2;
    }
    while (refused <= LONGEST && refused - kept > 1) {
      int length = (kept + refused) / 2;
      if (isKept(length)) {
        kept = length;
      } else {
        refused = length;
      }
    }
  }

  private boolean isKept(int length) {
    String text = "x".repeat(length);
    VersionedText found = read("lock/a");
    Optional<Throwable> refusal =
        BoundedWait.join(
            documents()
                .compareAndSet("lock/a", found, text)
                .handle(
                    (written, failure) -> {
                      assertThat(failure != null || written.made()).isTrue();
                      return Optional.ofNullable(failure);
                    }));
    assertIs(refusal.isPresent() ? String.valueOf(found.text()) : text, read("lock/a"));
    refusal.ifPresent(failure -> assertRefusal(length, failure));
    return refusal.isEmpty();
  }

  /** Asserts a refusal that does not look like an outage, which would be retried for ever. */
  private static void assertRefusal(int length, Throwable failure) {
    List<Throwable> causes = new ArrayList<>();
    for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
      causes.add(cause);
    }
    assertThat(causes)
        .as("what is told of a document of %s characters", length)
        .hasAtLeastOneElementOfType(StoreUnavailableException.class)
        .hasAtLeastOneElementOfType(DocumentTooLargeException.class)
        .noneMatch(cause -> cause instanceof IOException || cause instanceof TimeoutException);
  }

  /** Some differ in case, a blank, an accent or an escape only, and others in their last byte. */
  @Test
  void givenNamesThatAreAlike_thenEachIsADocumentOfItsOwn_andComesBackAsItWas() {
    List<String> keys = NameVectors.all().stream().map(name -> "lock/" + name.value()).toList();
    List<VersionedText> absent = each(keys, documents()::read);
    List<Integer> places = IntStream.range(0, keys.size()).boxed().toList();
    List<Written> written =
        each(
            places,
            i -> documents().compareAndSet(keys.get(i), absent.get(i), "text of " + keys.get(i)));
    assertThat(written).allMatch(Written::made);
    assertThat(each(keys, documents()::read))
        .extracting(VersionedText::text)
        .containsExactlyElementsOf(keys.stream().map("text of "::concat).toList());
    assertThat(scanAll("lock/", 7)).containsExactlyInAnyOrderElementsOf(keys);
    assertThat(read("fact/a").text()).isNull();
  }

  private List<String> scanAll(String prefix, int limit) {
    List<String> all = new ArrayList<>();
    List<String> page = BoundedWait.join(documents().scan(prefix, "", limit));
    all.addAll(page);
    while (page.size() == limit && all.size() <= MANY) {
      page = BoundedWait.join(documents().scan(prefix, page.get(limit - 1), limit));
      all.addAll(page);
    }
    return all;
  }

  /** The longest names differ in their last byte; others only in case or by a blank at the end. */
  @Test
  void givenManyDocuments_thenTheyAreListedPageByPage_eachKindByItself() {
    String long512 = "lock/" + "x".repeat(511);
    List<String> names =
        List.of(
            "lock/*",
            "lock/a",
            "lock/A",
            "lock/a ",
            "lock/a\u00e9",
            "lock/b",
            "lock/\uD83D\uDE00",
            long512 + "1",
            long512 + "2");
    for (String name : names) {
      assertThat(write(name, read(name), name)).as(name).isTrue();
    }
    assertThat(names).allSatisfy(name -> assertThat(read(name).text()).isEqualTo(name));
    assertThat(write("session/a", read("session/a"), "x")).isTrue();
    assertThat(scanAll("lock/", 2)).containsExactlyInAnyOrderElementsOf(names);
    assertThat(scan("lock/a")).containsExactlyInAnyOrder("lock/a", "lock/a ", "lock/a\u00e9");
    assertThat(scan("session/")).containsExactly("session/a");
    List<ListedText> texts = BoundedWait.join(documents().scanTexts("lock/a", "", 10));
    assertThat(texts).extracting(ListedText::key).containsExactlyElementsOf(scan("lock/a"));
    assertThat(texts).allSatisfy(each -> assertThat(each.found()).isEqualTo(read(each.key())));
    assertThat(BoundedWait.join(documents().scanTexts("lock/", "", 2))).hasSize(2);
  }

  @Test
  void givenLastKeyOfAPage_whenItsDocumentIsRemoved_thenTheNextPageBeginsBehindIt() {
    for (String name : List.of("lock/a", "lock/b", "lock/c", "lock/d", "lock/e")) {
      assertThat(write(name, read(name), name)).isTrue();
    }
    List<String> all = scan("lock/");
    String last = all.get(2);
    assertThat(remove(last, read(last))).isTrue();
    assertThat(BoundedWait.join(documents().scan("lock/", last, 10))).isEqualTo(all.subList(3, 5));
    assertThat(BoundedWait.join(documents().scan("lock/", last, 1))).isEqualTo(all.subList(3, 4));
  }

  /** Against servers that list a thousand keys at a time, with a flag for more. */
  @Test
  void givenMoreDocumentsThanServersListAtATime_whenAllAreAskedFor_thenNoneIsLeftOut() {
    Set<String> keys = makeMany(MANY).keySet();
    List<String> listed = BoundedWait.join(documents().scan("lock/", "", 2048));
    assertThat(listed.size())
        .as("keys listed: fewer than the limit are the last ones, also if a server lists by pages")
        .isEqualTo(keys.size());
    assertThat(Set.copyOf(listed).equals(keys)).as("they are these keys").isTrue();
  }
}
