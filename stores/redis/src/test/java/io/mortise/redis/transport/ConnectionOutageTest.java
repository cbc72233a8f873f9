package io.mortise.redis.transport;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class ConnectionOutageTest {
  private final AtomicLong nanos = new AtomicLong(5);
  private final ConnectionOutage outage = new ConnectionOutage(nanos::get);

  @Test
  void givenConnectionThatBreaks_thenTheTextTellsForHowLongThereIsNone_onceThatIsSomeTime() {
    assertThat(outage.text()).isEqualTo("There is no connection.");
    assertThat(outage.begin("Connection reset.")).isTrue();
    assertThat(outage.text())
        .isEqualTo("There is no connection: the last one broke: Connection reset.");
    nanos.addAndGet(2_200_000_000L);
    assertThat(outage.text())
        .isEqualTo("There has been no connection for 2.2s: the last one broke: Connection reset.");
  }

  @Test
  void givenServerThatRefusesTheUser_thenItsWordsAndAdviceAreTold() {
    outage.failed(new ErrorReplyException("WRONGPASS invalid.\r\nFoo."), "server", false);
    assertThat(outage.text())
        .isEqualTo(
            "There is no connection: WRONGPASS invalid. Foo. Check the user, its password and its"
                + " permissions.");
  }
}
