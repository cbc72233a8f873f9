package io.mortise.memcached;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MetaReaderTest {
  private static MetaReader reader(String text) {
    return new MetaReader(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
  }

  @Test
  void givenReplies_thenTheirWordsFlagsAndValuesAreFound() throws IOException {
    MetaReader reader = reader("HD c7 O3\r\nVA 5 c8 t-1 O4\r\na\r\nä\r\nEN O5\r\nNF \r\n");
    MetaReply stored = reader.read();
    assertThat(stored.is("HD")).isTrue();
    assertThat(stored.flag('c')).isEqualTo("7");
    MetaReply found = reader.read();
    assertThat(found.value()).isEqualTo("a\r\nä");
    assertThat(found.number('c')).isEqualTo(8);
    assertThat(found.number('t')).isEqualTo(-1);
    assertThat(reader.read().is("EN")).isTrue();
    assertThat(reader.read().is("NF")).isTrue();
  }

  @Test
  void givenStatistics_thenTheyAreOneReply() throws IOException {
    MetaReader reader = reader("STAT a 1\r\nSTAT b c d\r\nSTAT e\r\nEND\r\nMN\r\n");
    assertThat(reader.read().statistics())
        .containsEntry("a", "1")
        .containsEntry("b", "c d")
        .containsEntry("e", "");
    assertThat(reader.read().is("MN")).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "VA x\r\n",
        "VA -1\r\n\r\n",
        "VA 99999999\r\n",
        "VA\r\n",
        "VA 3\r\nabcd\r\n",
        "VA 3\r\nab",
        "STAT a 1\r\nnonsense\r\n",
        "HD",
        ""
      })
  void givenWhatIsNoReply_thenTheConnectionIsBroken(String text) {
    assertThatThrownBy(() -> reader(text).read()).isInstanceOf(IOException.class);
  }

  @Test
  void givenLineWithoutEnd_thenItIsNotReadForEver() {
    assertThatThrownBy(() -> reader("x".repeat(1 << 20)).read())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("too long");
  }

  @Test
  void givenControlCharactersOfTheServer_thenMessagesDoNotHaveThem() {
    assertThat(MetaReply.of("SERVER_ERROR \u001b[31mred").shown())
        .isEqualTo("SERVER_ERROR  [31mred");
  }
}
