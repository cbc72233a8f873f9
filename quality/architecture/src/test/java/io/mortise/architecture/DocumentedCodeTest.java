package io.mortise.architecture;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.architecture.Documentation.Block;
import io.mortise.architecture.Documentation.Page;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each {@code ```java} block of the documentation compiles against the library. A block is a whole
 * class, members of one, or statements; the last two see what {@code SamplePrelude.java.txt} has.
 * Imports may stand at its head. A block that cannot compile here has a comment above it: {@code
 * <!-- java: skip: why -->}.
 */
class DocumentedCodeTest {
  private static final Pattern SKIP = Pattern.compile("<!-- java: skip(: \\S.*)? -->");
  private static final Pattern IMPORT = Pattern.compile("import [\\w.*]+( [\\w.*]+)?;");
  private static final Pattern TYPE =
      Pattern.compile("((public|final|abstract) )*(class|interface|record|enum) \\w+.*");
  private static final Pattern MEMBER =
      Pattern.compile(
          "@\\w+.*|((public|private|protected|static|final) )*(?!new |return |throw )[\\w.<>\\[\\], ?]+ \\w+\\([^;]*\\)( throws [\\w, ]+)? \\{");

  /** Imports in one line, so that the lines of a sample keep their numbers. */
  private static final String IMPORTS =
      Stream.of(
              "io.mortise.*",
              "io.mortise.admin.*",
              "io.mortise.event.*",
              "io.mortise.recipe.*",
              "io.mortise.sql.*",
              "io.mortise.sql.TransactionOnce.KeptResult",
              "io.mortise.spi.AttemptId",
              "io.mortise.spring.*",
              "java.sql.Connection",
              "java.sql.SQLException",
              "java.time.*",
              "java.util.*",
              "java.util.concurrent.*",
              "java.util.concurrent.locks.*",
              "org.junit.jupiter.api.Test",
              "static org.junit.jupiter.api.Assertions.*")
          .map("import %s; "::formatted)
          .collect(Collectors.joining());

  @TempDir private Path classes;

  @Test
  void givenDocumentation_whenItsJavaIsCompiled_thenAllOfItIsRight() throws Exception {
    List<Page> pages = Documentation.pages(path -> !path.startsWith("adr/"));
    List<Block> blocks = java(pages);
    assertThat(troubles(blocks)).as("samples that do not compile").isEmpty();
    assertThat(blocks).hasSizeGreaterThan(40);
  }

  @Test
  void givenBrokenSamples_whenTheyAreCompiled_thenEachIsNoticedWhereItStands() throws Exception {
    String text =
        """
        # Broken
        ```java
        Lease lease = locks.lock("a").acquire();
        lease.realease();
        ```
        <!-- java: skip: it needs another library -->
        ```java
        nobody.looks(here);
        ```
        <!-- java: skip -->
        ```java
        lock.asJavaLock().lock();
        ```
        ```java
        import io.mortise.NoSuchType;

        void member() {
          locks.close();
        }
        ```
        ```java
        public class Whole {
          int wrong = "text";
        }
        ```
        ```java
        lock.asJavaLock().lock()
        """;
    assertThat(troubles(java(List.of(new Page("broken.md", text.lines().toList())))))
        .satisfiesExactlyInAnyOrder(
            trouble -> assertThat(trouble).startsWith("broken.md:4: ").contains("realease"),
            trouble -> assertThat(trouble).startsWith("broken.md:12: ").contains("a reason"),
            trouble -> assertThat(trouble).startsWith("broken.md:15: ").contains("NoSuchType"),
            trouble -> assertThat(trouble).startsWith("broken.md:23: ").contains("String"),
            trouble -> assertThat(trouble).startsWith("broken.md:27: ").contains("no end"));
  }

  @Test
  void givenSamplesOfEachShape_whenTheyAreCompiled_thenNothingIsFound() throws Exception {
    String text =
        """
        ```java
        import java.net.URI;

        URI uri = URI.create("redis://localhost");
        try (LockClient locks = LockClient.connect(uri.toString())) {
          locks.lock("a").withLock(() -> print());
        }
        ```
        ```java
        @Test
        void member() throws Exception {
          try (Lease lease = locks.lock("a").acquire()) {
            write(lease);
          }
        }

        static int other(int a) {
          return a;
        }
        ```
        ```java
        import io.mortise.LockClient;

        public class Whole {
          private final LockClient locks = LockClient.connect("mem:");
        }
        ```
        """;
    List<Block> blocks = java(List.of(new Page("right.md", text.lines().toList())));
    assertThat(blocks).hasSize(3);
    assertThat(troubles(blocks)).isEmpty();
  }

  private static List<Block> java(List<Page> pages) {
    return pages.stream()
        .flatMap(page -> page.blocks().stream())
        .filter(block -> block.language().equals("java"))
        .toList();
  }

  /** Compilation errors, by page and line. */
  private List<String> troubles(List<Block> blocks) throws Exception {
    List<String> troubles = new ArrayList<>();
    List<Source> sources = new ArrayList<>();
    for (Block block : blocks) {
      Matcher skip = SKIP.matcher(block.above());
      if (!block.closed()) {
        troubles.add(block.place() + ": the block has no end");
      } else if (!skip.matches()) {
        sources.add(source(block, "sample.b" + sources.size()));
      } else if (skip.group(1) == null) {
        troubles.add(block.place() + ": write a reason, <!-- java: skip: why -->");
      }
    }
    troubles.addAll(compile(sources));
    return troubles;
  }

  private static Source source(Block block, String home) {
    List<String> code = new ArrayList<>(block.lines());
    if (code.stream().anyMatch(line -> TYPE.matcher(line).matches())) {
      return new Source(block, home, typeName(code), "package " + home + "; ", code, "");
    }
    StringBuilder head = new StringBuilder("package " + home + "; ");
    code.replaceAll(
        line -> {
          if (IMPORT.matcher(line).matches()) {
            head.append(line).append(' ');
            return "";
          }
          return line;
        });
    head.append(IMPORTS).append("abstract class Sample extends sample.Prelude { ");
    boolean members =
        code.stream()
            .filter(line -> !line.isBlank() && !line.startsWith("//"))
            .findFirst()
            .filter(line -> MEMBER.matcher(line).matches())
            .isPresent();
    return members
        ? new Source(block, home, "Sample", head.toString(), code, "}")
        : new Source(block, home, "Sample", head + "void sample() throws Exception { ", code, "}}");
  }

  private static String typeName(List<String> code) {
    return code.stream()
        .map(Pattern.compile("public .*?(?:class|interface|record|enum) (\\w+).*")::matcher)
        .filter(Matcher::matches)
        .map(name -> name.group(1))
        .findFirst()
        .orElse("Sample");
  }

  private List<String> compile(List<Source> sources) throws Exception {
    JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
    DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
    List<JavaFileObject> all = new ArrayList<>(sources);
    all.add(prelude());
    List<String> options =
        List.of(
            "-proc:none",
            "-implicit:none",
            // Type errors too, where another sample cannot even be parsed.
            "-XDshould-stop.ifError=FLOW",
            "-classpath",
            System.getProperty("java.class.path"),
            "-d",
            classes.toString());
    compiler.getTask(null, null, found, options, null, all).call();
    TreeMap<String, String> firstOfEachLine = new TreeMap<>();
    for (Diagnostic<? extends JavaFileObject> trouble : found.getDiagnostics()) {
      if (trouble.getKind() == Diagnostic.Kind.ERROR) {
        String place =
            trouble.getSource() instanceof Source source
                ? source.place(trouble.getLineNumber())
                : String.valueOf(trouble.getSource());
        firstOfEachLine.putIfAbsent(
            place, place + ": " + trouble.getMessage(Locale.ROOT).replaceAll("\\s+", " "));
      }
    }
    return List.copyOf(firstOfEachLine.values());
  }

  private static JavaFileObject prelude() throws Exception {
    try (InputStream text =
        DocumentedCodeTest.class.getResourceAsStream("SamplePrelude.java.txt")) {
      return new Text("sample.Prelude", new String(text.readAllBytes(), UTF_8));
    }
  }

  /** Java text in memory. */
  private static class Text extends SimpleJavaFileObject {
    private final String text;

    Text(String type, String text) {
      super(URI.create("string:///" + type.replace('.', '/') + ".java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }

  /** A block wrapped in a class. The head is one additional line above the block's first. */
  private static final class Source extends Text {
    private final Block block;

    Source(Block block, String home, String type, String head, List<String> code, String foot) {
      super(home + "." + type, head + "\n" + String.join("\n", code) + "\n" + foot);
      this.block = block;
    }

    /** The place of a line of the text. In the head only the block's own imports can be wrong. */
    String place(long line) {
      return block.page().path() + ":" + (block.begin() + Math.max(1, line - 1));
    }
  }
}
