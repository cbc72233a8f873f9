package io.mortise.redis;

import org.junit.jupiter.api.Test;

class LettuceSettingsReportTest {
  @Test
  void givenUserWhoMayNotReadTheConfiguration_whenExamined_thenItSaysSo() {
    RedisSettingsReportTest.assertUserWhoMayNotReadTheConfigurationIsTold("lettuce");
  }
}
