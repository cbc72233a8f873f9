package io.mortise.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** A bean that would do but for an artifact is named, with the artifact. */
class MissingArtifactTest {
  private static final String BEAN = DataSource.class.getName();

  private final DefaultListableBeanFactory beans = new DefaultListableBeanFactory();

  @Test
  void givenBeanWithoutItsArtifact_whenAsked_thenTheArtifactIsNamed() {
    beans.registerSingleton("pool", new DriverManagerDataSource());
    assertThat(new MissingArtifact(BEAN, "mortise-jdbc", "io.mortise.Absent").sentence(beans))
        .containsExactly("There is a DataSource, but mortise-jdbc is not on the class path.");
  }

  @Test
  void givenNothingThatLacks_whenAsked_thenThereIsNoSentence() {
    assertThat(MissingArtifact.sentences(beans)).as("no beans").isEmpty();
    beans.registerSingleton("pool", new DriverManagerDataSource());
    assertThat(MissingArtifact.sentences(beans)).as("bean and artifact").isEmpty();
    assertThat(new MissingArtifact("no.such.Bean", "a", "b").sentence(beans)).isEmpty();
  }
}
