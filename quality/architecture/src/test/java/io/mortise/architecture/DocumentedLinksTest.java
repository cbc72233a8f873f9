package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.architecture.Documentation.Block;
import io.mortise.architecture.Documentation.Page;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Each relative link of the documentation leads to a file of the repository, and to a heading. */
class DocumentedLinksTest {
  private static final Pattern LINK =
      Pattern.compile("\\[(?:[^\\[\\]]|\\[[^\\]]*\\])*\\]\\(([^()\\s]+)(?: \"[^\"]*\")?\\)");
  private static final Pattern CODE = Pattern.compile("`[^`]*`");
  private static final Pattern EXTERNAL = Pattern.compile("[a-z][a-z0-9+.-]*:.*");
  private static final Pattern CITATION = Pattern.compile("invariants\\.md#([a-z-]+[a-z])");
  private static final Pattern RULE =
      Pattern.compile("`(EngineRules|TableRules|QuorumRules)\\.(\\w+)`");
  private static final Map<String, String> RULES =
      Map.of(
          "EngineRules", "core/src/main/java/io/mortise/internal/runtime/EngineRules.java",
          "TableRules", "store-support/src/main/java/io/mortise/support/table/TableRules.java",
          "QuorumRules", "stores/quorum/src/main/java/io/mortise/quorum/QuorumRules.java");
  private static final Pattern HEADING = Pattern.compile("#{1,6} +(.*?)( +#+)?");

  private final Map<Path, Set<String>> anchors = new HashMap<>();

  @Test
  void givenDocumentation_whenItsLinksAreFollowed_thenEachLeadsSomewhere() throws IOException {
    List<Page> pages = Documentation.pages(path -> true);
    List<String> troubles = new ArrayList<>();
    int links = 0;
    for (Page page : pages) {
      links += check(page, troubles);
    }
    assertThat(troubles).as("links that lead nowhere").isEmpty();
    assertThat(links).isGreaterThan(100);
  }

  @Test
  void givenCommentsThatCiteAnInvariant_thenItIsWrittenDown() throws IOException {
    Path invariants = Documentation.ROOT.resolve("docs/internals/invariants.md");
    Set<String> written = anchors(new Page("invariants.md", Files.readAllLines(invariants)));
    Set<String> cited = new HashSet<>();
    for (Path module : Modules.folders(Documentation.ROOT)) {
      if (!Files.isDirectory(module.resolve("src"))) {
        continue;
      }
      try (Stream<Path> sources = Files.walk(module.resolve("src"))) {
        for (Path source : sources.filter(file -> file.toString().endsWith(".java")).toList()) {
          Matcher citation = CITATION.matcher(Files.readString(source));
          while (citation.find()) {
            cited.add(citation.group(1));
          }
        }
      }
    }
    assertThat(written).containsAll(cited);
    assertThat(cited).hasSizeGreaterThan(15);
  }

  @Test
  void givenInvariants_thenTheRulesThatKeepThemExist() throws IOException {
    String invariants =
        Files.readString(Documentation.ROOT.resolve("docs/internals/invariants.md"));
    Matcher rule = RULE.matcher(invariants);
    List<String> missing = new ArrayList<>();
    int rules = 0;
    while (rule.find()) {
      rules++;
      Path source = Documentation.ROOT.resolve(RULES.get(rule.group(1)));
      if (!Files.readString(source).contains(" " + rule.group(2) + "(")) {
        missing.add(rule.group());
      }
    }
    assertThat(missing).isEmpty();
    assertThat(rules).isGreaterThan(20);
  }

  @Test
  void givenBrokenLinks_whenTheyAreFollowed_thenEachIsNoticedWhereItStands() throws IOException {
    String text =
        """
        # A page
        [there](README.md) and ![a figure](docs/no-such.svg)
        [heading](README.md#no-such-heading), [mortise](https://example.org/#nothing)
        `[code](no-such.md)`
        ```
        [code](no-such.md)
        ```
        [here](#a-page), [not here](#another), [out](../elsewhere.md)
        [upper](readme.md)
        """;
    List<String> troubles = new ArrayList<>();
    int links = check(new Page("A.md", text.lines().toList()), troubles);
    assertThat(links).isEqualTo(7);
    assertThat(troubles)
        .containsExactly(
            "A.md:2: docs/no-such.svg",
            "A.md:3: README.md#no-such-heading",
            "A.md:8: #another",
            "A.md:8: ../elsewhere.md",
            "A.md:9: readme.md");
  }

  @Test
  void givenHeadings_whenTheirAnchorsAreMade_thenTheyAreThoseOfGitHub() {
    List<String> lines =
        List.of(
            "# Locks, *and* `asJavaLock()`",
            "## Once",
            "## Once",
            "```sh",
            "# no heading",
            "```",
            "### A [link](b.md) in it ##",
            "## at-most_N");
    assertThat(anchors(new Page("A.md", lines)))
        .containsExactlyInAnyOrder(
            "locks-and-asjavalock", "once", "once-1", "a-link-in-it", "at-most_n");
  }

  /** Returns how many links there are. */
  private int check(Page page, List<String> troubles) throws IOException {
    Path at = Documentation.ROOT.resolve(page.path());
    Set<String> own = anchors(page);
    int links = 0;
    for (int i = 0; i < page.lines().size(); i++) {
      if (isCode(page, i)) {
        continue;
      }
      Matcher link = LINK.matcher(CODE.matcher(page.lines().get(i)).replaceAll("code"));
      while (link.find()) {
        String target = link.group(1);
        if (!EXTERNAL.matcher(target).matches()) {
          links++;
          if (!leadsSomewhere(at, own, target)) {
            troubles.add(page.path() + ":" + (i + 1) + ": " + target);
          }
        }
      }
    }
    return links;
  }

  private boolean leadsSomewhere(Path from, Set<String> own, String target) throws IOException {
    int hash = target.indexOf('#');
    String file = hash < 0 ? target : target.substring(0, hash);
    String anchor = hash < 0 ? "" : target.substring(hash + 1);
    if (file.isEmpty()) {
      return own.contains(anchor);
    }
    Path to = from.resolveSibling(URLDecoder.decode(file, StandardCharsets.UTF_8)).normalize();
    // Some file systems ignore case; the site that serves the pages does not.
    if (!to.startsWith(Documentation.ROOT)
        || !Files.exists(to)
        || !to.toRealPath().endsWith(Documentation.ROOT.relativize(to))) {
      return false;
    }
    if (anchor.isEmpty()) {
      return true;
    }
    if (!anchors.containsKey(to)) {
      anchors.put(to, anchors(new Page(to.toString(), Files.readAllLines(to))));
    }
    return to.toString().endsWith(".md") && anchors.get(to).contains(anchor);
  }

  private static boolean isCode(Page page, int line) {
    return page.blocks().stream().anyMatch(block -> isIn(block, line));
  }

  private static boolean isIn(Block block, int line) {
    return line >= block.begin() && line < block.end();
  }

  /** GitHub's anchors of the headings: lower case, with letters, digits, spaces, - and _ only. */
  private static Set<String> anchors(Page page) {
    Set<String> found = new HashSet<>();
    for (int i = 0; i < page.lines().size(); i++) {
      Matcher heading = HEADING.matcher(page.lines().get(i));
      if (isCode(page, i) || !heading.matches()) {
        continue;
      }
      String shown = heading.group(1).replaceAll("!?\\[([^\\]]*)\\]\\([^)]*\\)", "$1");
      String name =
          shown.toLowerCase(Locale.ROOT).replaceAll("[^\\p{L}\\p{N} _-]", "").replace(' ', '-');
      String numbered = name;
      for (int n = 1; !found.add(numbered); n++) {
        numbered = name + "-" + n;
      }
    }
    return found;
  }
}
