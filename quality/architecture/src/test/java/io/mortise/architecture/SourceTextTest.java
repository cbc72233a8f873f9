package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.architecture.SourceText.Comment;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Sources are split into code and comments, whatever a string looks like. */
class SourceTextTest {
  @Test
  void givenJava_thenStringsAreCodeAndCommentsAreProse() {
    SourceText source =
        SourceText.of(
            """
            /* Copyright of somebody */
            import a.B;

            /**
             * First {@code word}.
             *
             * @param name of it
             */
            class A { // behind
              String url = "redis://a/*"; char quote = '"';
              // One,
              // two.

              // three
              String text = \"""
                  // no "comment" \\\"""
                  \"""; /* four */
            }
            """,
            "java");
    assertThat(source.codeLines()).isEqualTo(7);
    assertThat(source.comments())
        .containsExactly(
            new Comment(4, "First word. . of it"),
            new Comment(9, "behind"),
            new Comment(11, "One, two."),
            new Comment(14, "three"),
            new Comment(17, "four"));
    assertThat(source.comments().get(0).words()).isEqualTo(4);
  }

  @Test
  void givenSqlAndLua_thenCommentsBeginWithTwoDashes() {
    assertThat(SourceText.of("-- One\n-- two\nselect '--' from a; -- three\n", "sql"))
        .isEqualTo(new SourceText(1, List.of(new Comment(1, "One two"), new Comment(3, "three"))));
    assertThat(SourceText.of("local a = \"--'\" -- one\n", "lua"))
        .isEqualTo(new SourceText(1, List.of(new Comment(1, "one"))));
  }
}
